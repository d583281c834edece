/** Every view in a large window, as in screens.spec.ts; only with LONG=1, which `npm run test:long` sets. */
import { compare, expectWithinBounds, openScreen, otherFonts, prepareKnowledge, screens } from './screens.ts';
import { open, test } from './workbench.ts';

test.use({ viewport: { width: 1920, height: 1200 } });

test('every view of a large window looks as before, in light and dark', async ({ page, service }) => {
  await prepareKnowledge(page, service);
  await open(page, service, '/start');
  const isComparable = (await otherFonts(page)) === null;
  for (const screen of screens)
    await test.step(screen.name, async () => {
      await openScreen(page, service, screen);
      await expectWithinBounds(page, screen.name);
      if (isComparable) await compare(page, { ...screen, name: `large-${screen.name}` }, ['light', 'dark']);
      await screen.leave?.(page);
    });
});
