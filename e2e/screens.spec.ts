/**
 * Every view as a picture, in light and dark and four in high contrast, on a fixed sample: compared with those in
 * docs/screenshots, which show what the workbench looks like and are the ones to look at when its design changes. Those of
 * a large window are compared in screens.long.spec.ts.
 *
 * `npx playwright test e2e/screens.spec.ts --update-snapshots` takes them anew. Where the machine's fonts are others than
 * the pictures were taken with, the views are opened and measured, and the pictures not compared. No view may run over the
 * edges of the window; axe finds nothing grave, and every target can be hit.
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

test('every view looks as it did, in light and dark, and nothing grave is found in it', async ({
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

/** Refused calls are what signing in is about, so that the console is not watched. */
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
