// Parts of the filters above a list: a search field, and a filter that can be removed.
import type { JSX } from 'preact';
import { Icon } from './icon.tsx';

type SearchFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
};

/** A search field; the key `/` focuses it. */
export function SearchField({ label, value, change }: SearchFieldProps): JSX.Element {
  return (
    <div class="search">
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        spellcheck={false}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}

/** A filter that is set, with a button that removes it. */
export function FilterChip({ name, remove }: { readonly name: string; readonly remove: () => void }): JSX.Element {
  return (
    <button type="button" class="chip" title="Remove this filter" onClick={remove}>
      {name} <Icon name="close" size={12} />
    </button>
  );
}
