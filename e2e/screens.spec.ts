/**
 * Pictures of every view in light and dark, and of four in high contrast, on a fixed sample, compared with
 * docs/screenshots; look at those when the design changes. screens.long.spec.ts compares a large window.
 *
 * `npx playwright test e2e/screens.spec.ts --update-snapshots` retakes them. If the machine has other fonts than the
 * pictures, views are opened and measured but not compared. No view may overflow the window, axe must find nothing
 * serious, and every target must be large enough.
 */
import { expect } from '@playwright/test';
import { expectNothingGraveIn } from './accessibility.ts';
import {
  compare,
  contrastScreens,
  expectWithinBounds,
  openScreen,
  otherFonts,
  prepareKnowledge,
  screens,
} from './screens.ts';
import { ServiceProcess, test as unwatched } from './service.ts';
import { open, test } from './workbench.ts';

test.use({ viewport: { width: 1280, height: 800 } });

test('every view looks as before, in light and dark, without a serious accessibility finding', async ({
  page,
  service,
}) => {
  await prepareKnowledge(page, service);
  await open(page, service, '/start');
  const others = await otherFonts(page);
  if (others !== null)
    test.info().annotations.push({
      type: 'not compared',
      description: `The fonts here are others (${others}) than those of the pictures.`,
    });
  for (const screen of screens)
    await test.step(screen.name, async () => {
      await openScreen(page, service, screen);
      await expectWithinBounds(page, screen.name);
      if (others === null)
        await compare(page, screen, [
          'light',
          'dark',
          ...(contrastScreens.has(screen.name) ? (['contrast'] as const) : []),
        ]);
      await expectNothingGraveIn(page, screen.name, ['dark']);
      await screen.leave?.(page);
    });
});

/** Signing in involves refused calls, so the console is not checked. */
unwatched.use({ viewport: { width: 1280, height: 800 } });
unwatched('signing in looks as it did, in light and dark', async ({ page }) => {
  const service = new ServiceProcess({
    AUTH_ENABLED: 'true',
    SERVICE_ADMIN_PASS: 'a password for this test',
  });
  try {
    await service.start();
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await open(page, service, '/facts');
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectWithinBounds(page, 'sign-in');
    if ((await otherFonts(page)) === null) await compare(page, { name: 'sign-in' }, ['light', 'dark']);
  } finally {
    await service.dispose();
  }
});
