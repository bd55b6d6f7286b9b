// The saved views of a list: links to them, and a field that saves the current filter under a name.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAtom } from '../state/atom.ts';
import type { Screen } from '../state/router.ts';
import { formatViewQuery, removeView, savedViews, saveView } from '../state/saved-views.ts';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';

type SavedViewsProps = {
  readonly screen: Screen;
  /** The current filter. */
  readonly filter: Readonly<Record<string, string>>;
};

/** The views of a screen; a filter that is not one of them can be saved. */
export function SavedViews({ screen, filter }: SavedViewsProps): JSX.Element | null {
  const views = useAtom(savedViews).filter((view) => view.screen === screen);
  const [name, setName] = useState<string | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const query = formatViewQuery(filter);
  const isNaming = name !== undefined;
  useEffect(() => field.current?.focus(), [isNaming]);
  const isSaved = views.some((view) => view.query === query);
  if (views.length === 0 && query === '') return null;
  return (
    <div class="views" role="group" aria-label="Saved views">
      {views.map((view) => (
        <span key={view.name} class="view">
          <a href={`#/${screen}?${view.query}`} aria-current={view.query === query ? 'true' : undefined}>
            <EscapedText text={view.name} />
          </a>
          <button type="button" class="quiet icon-only" title="Remove this view" onClick={() => removeView(view)}>
            <Icon name="close" size={12} />
            <span class="unseen">Remove the view {view.name}</span>
          </button>
        </span>
      ))}
      {query === '' || isSaved ? null : name === undefined ? (
        <button type="button" class="quiet" onClick={() => setName('')}>
          <Icon name="add" size={12} /> Save view
        </button>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() === '') return;
            saveView({ screen, name: name.trim(), query });
            setName(undefined);
          }}
        >
          <input
            ref={field}
            aria-label="Name of the view"
            placeholder="Name of the view"
            maxLength={60}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setName(undefined);
            }}
          />
          <button type="submit" disabled={name.trim() === ''}>
            Save
          </button>
        </form>
      )}
    </div>
  );
}
