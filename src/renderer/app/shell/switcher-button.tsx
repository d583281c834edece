import { UnstyledButton } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import type { ComponentPropsWithRef, ReactNode } from 'react';
import styles from './shell.module.css';

interface SwitcherButtonProps extends ComponentPropsWithRef<'button'> {
  what: string;
  value: string;
  icon: ReactNode;
}

/** Shows a part of the space in the title bar; opens the menu to switch it. */
export function SwitcherButton({ what, value, icon, className = '', ...rest }: SwitcherButtonProps) {
  return (
    <UnstyledButton
      aria-haspopup="menu"
      aria-expanded={false}
      {...rest}
      className={`flex-row gap-6 ${styles.switcher} ${className}`}
      aria-label={`${what}: ${value}`}
    >
      {icon}
      <span className="truncate">{value}</span>
      <IconChevronDown size={13} aria-hidden className="dim" />
    </UnstyledButton>
  );
}
