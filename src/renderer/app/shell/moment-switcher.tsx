import { lazyComponent } from '../../ui/later.tsx';
import { OpenedLater } from '../../ui/opened-later.tsx';
import { MomentButton } from './moment-button.tsx';

const fetchPopover = () => import('./moment-popover.tsx');
const MomentPopover = lazyComponent(async () => (await fetchPopover()).MomentPopover);

/** The button, and on demand the choice of another moment. */
export function MomentSwitcher() {
  return (
    <OpenedLater button={<MomentButton />} fetch={fetchPopover}>
      <MomentPopover />
    </OpenedLater>
  );
}
