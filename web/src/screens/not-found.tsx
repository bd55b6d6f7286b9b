// Screen of an address that has no screen.
import type { JSX } from 'preact';
import { EmptyState, PageTitle } from '../components/primitives.tsx';
import { linkTo } from '../state/router.ts';

/** Says that the address does not exist, and where to go. */
export function NotFoundScreen(): JSX.Element {
  return (
    <>
      <PageTitle>Page not found</PageTitle>
      <EmptyState icon="search" title="This address does not exist.">
        <p>
          Go to <a href={linkTo('ask')}>Ask</a>, <a href={linkTo('runs')}>Runs</a> or{' '}
          <a href={linkTo('sessions')}>Sessions</a>, or press <kbd>Ctrl</kbd> <kbd>K</kbd> to search.
        </p>
      </EmptyState>
    </>
  );
}
