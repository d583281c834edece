/** What can be done with a rule of the list, as the menu of its row. */
import {
  IconCopy,
  IconFlask,
  IconHelpCircle,
  IconPencil,
  IconPower,
  IconTimeline,
  IconTrash,
} from '@tabler/icons-react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { copyText } from '../../ui/copy-text.ts';
import { notifyDone } from '../../ui/notify.tsx';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import type { RuleActions } from './rule-columns.tsx';

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;

async function copy(rule: StoredRule): Promise<void> {
  if (await copyText(`${rule.text}.`)) notifyDone('Copied the rule');
}

export function ruleMenu(rule: StoredRule, actions: RuleActions): RowMenuGroups {
  const { reason } = actions;
  return [
    [
      { label: 'Edit', icon: <IconPencil {...icon} />, keys: 'Enter', onClick: () => actions.onEdit(rule) },
      {
        label: rule.enabled ? 'Switch off' : 'Switch on',
        icon: <IconPower {...icon} />,
        keys: 'E',
        reason,
        onClick: () => actions.onToggle(rule),
      },
    ],
    [
      {
        label: rule.enabled ? 'What if it were left out' : 'What if it were on',
        icon: <IconFlask {...icon} />,
        keys: 'W',
        onClick: () => actions.onWhatIf(rule),
      },
      {
        label: 'Why does it not conclude…',
        icon: <IconHelpCircle {...icon} />,
        onClick: () => actions.onWhyNot(rule),
      },
      {
        label: 'Trace what it concludes',
        icon: <IconTimeline {...icon} />,
        onClick: () => actions.onTrace(rule),
      },
    ],
    [
      { label: 'Copy as a statement', icon: <IconCopy {...icon} />, onClick: () => void copy(rule) },
      {
        label: 'Delete…',
        icon: <IconTrash {...icon} />,
        keys: 'Delete',
        isDangerous: true,
        reason,
        onClick: () => actions.onDelete(rule),
      },
    ],
  ];
}
