/** Asks for a key where the service refused the call without one. */
import { Button, Group, Modal, PasswordInput, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { setKey, useCredential } from '../../api/session.tsx';

export function SignIn() {
  const { key: used, refused } = useCredential();
  const [key, setTyped] = useState('');
  const [dismissed, setDismissed] = useState(false);
  if (!refused || dismissed) return null;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    setKey(key);
    setTyped('');
  }

  return (
    <Modal opened onClose={() => setDismissed(true)} title="This service asks for a key" size="sm">
      <form onSubmit={onSubmit}>
        <Text size="xs" c="dimmed" mb="sm">
          The key stays in this tab and is sent to {window.location.host} only.
        </Text>
        <PasswordInput
          data-autofocus
          label="API key"
          value={key}
          error={used === null ? null : 'The service refused the key that was given.'}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="md">
          <Button type="submit" disabled={key === ''}>
            Sign in
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
