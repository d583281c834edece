import { Button } from '@mantine/core';
import { IconRoute } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { apiFailureOf } from '../../api/problem.ts';
import { Permitted } from '../../api/permitted.tsx';
import { useSession } from '../../api/session.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { takeTour } from './tour-steps.ts';
import { useTour } from './tour-store.ts';
import styles from './tour.module.css';

/** Offers on the first page to start or resume the tour. */
export function TourOffer() {
  const session = useSession();
  const progress = useTour((state) => state.progress);
  const start = useMutation({ mutationFn: () => takeTour(session) });
  const isLeft = progress !== null && !progress.isOpen;
  return (
    <section className={`flex-row flex-wrap spread ${styles.offer}`} aria-label="Tour">
      <div>
        <h2>New here? Take the tour</h2>
        <p className="dim">
          Five steps that do real things: assert, teach, ask, why, window. A few minutes, by mouse or
          keyboard.
        </p>
      </div>
      <Permitted operation="assertRule">
        <Button
          leftSection={<IconRoute size={15} aria-hidden />}
          disabled={progress?.isOpen === true}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {isLeft ? 'Go on with the tour' : 'Take the tour'}
        </Button>
      </Permitted>
      {start.error !== null && <ProblemNotice failure={apiFailureOf(start.error)} />}
    </section>
  );
}
