import { Button } from '@mantine/core';
import { IconBook2, IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

/** Shows how to add first facts, for views of an empty knowledge base. */
export function FirstFacts() {
  return (
    <>
      <Button
        leftSection={<IconPlus size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/facts" {...props} />}
      >
        Go to Facts
      </Button>
      <Button
        variant="default"
        leftSection={<IconBook2 size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/start" {...props} />}
      >
        Open a sample
      </Button>
    </>
  );
}
