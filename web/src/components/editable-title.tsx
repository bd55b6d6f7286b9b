// The heading of a session, which the user can change in place.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSubmit } from '../hooks/use-poll.ts';
import { Icon } from './icon.tsx';
import { ErrorMessage, PageTitle } from './primitives.tsx';

type EditableTitleProps = {
  readonly title: string;
  /** Saves a new title; absent if the title cannot be changed now. */
  readonly save: ((title: string) => Promise<void>) | undefined;
  readonly beside?: JSX.Element | null;
};

/** A title with a button that turns it into a field: Enter saves, Esc cancels. */
export function EditableTitle({ title, save, beside }: EditableTitleProps): JSX.Element {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const { busy, error, submit } = useSubmit();
  const field = useRef<HTMLInputElement>(null);
  const isEditing = typed !== undefined;
  useEffect(() => field.current?.select(), [isEditing]);
  if (!isEditing || !save)
    return (
      <PageTitle
        beside={
          <>
            {save ? (
              <button type="button" class="quiet icon-only" title="Edit the title" onClick={() => setTyped(title)}>
                <Icon name="edit" size={14} />
                <span class="unseen">Edit the title</span>
              </button>
            ) : null}
            {beside}
          </>
        }
      >
        {title}
      </PageTitle>
    );
  const keep = (): void =>
    submit(async () => {
      const text = typed.trim();
      if (text !== '' && text !== title) await save(text);
      setTyped(undefined);
    });
  return (
    <form
      class="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) keep();
      }}
    >
      <label class="unseen" for="title-field">
        Title
      </label>
      <input
        id="title-field"
        ref={field}
        value={typed}
        maxLength={300}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setTyped(undefined);
        }}
      />
      <button type="submit" class="primary" disabled={busy}>
        Save
      </button>
      <button type="button" onClick={() => setTyped(undefined)}>
        Cancel
      </button>
      <ErrorMessage failed={error} />
    </form>
  );
}
