// The model and the folder of a new run, as lists: what the server offers, what was used before, and a field for anything else.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { IconName } from '../text/icon-shapes.ts';
import { api } from '../api/client.ts';
import { usePoll } from '../hooks/use-poll.ts';
import { Icon } from './icon.tsx';

type Choices = { readonly model: string; readonly folder: string };

/** The two lists. An empty value is the default of the server, which the list names. */
export function RunChoices({
  value,
  change,
}: {
  readonly value: Choices;
  readonly change: (value: Partial<Choices>) => void;
}): JSX.Element {
  const { models = [], folders = [] } = usePoll((signal) => api.options(signal), 30_000).value ?? {};
  const recent = usePoll((signal) => api.runs({ limit: 50 }, signal), 60_000).value?.runs ?? [];
  const used = recent.flatMap(({ settings }) => (typeof settings['folder'] === 'string' ? [settings['folder']] : []));
  return (
    <div class="run-choices">
      <ListField
        icon="model"
        name="Model"
        value={value.model}
        defaultName={models[0] === undefined ? 'Default model' : `${models[0]} (default)`}
        options={models.slice(1)}
        change={(model) => change({ model })}
      />
      <ListField
        icon="folder"
        name="Folder"
        value={value.folder}
        defaultName={folders[0] === undefined ? 'Default folder' : `${folders[0]} (default)`}
        options={[...new Set([...folders.slice(1), ...used])].filter((folder) => folder !== folders[0])}
        change={(folder) => change({ folder })}
      />
    </div>
  );
}

/** The value of the option that shows a text field. */
const otherOption = '\u0000other';

type ListFieldProps = {
  readonly icon: IconName;
  readonly name: string;
  readonly value: string;
  readonly defaultName: string;
  readonly options: readonly string[];
  readonly change: (value: string) => void;
};

function ListField({ icon, name, value, defaultName, options, change }: ListFieldProps): JSX.Element {
  const [isOther, setOther] = useState(false);
  const isTyped = isOther || (value !== '' && !options.includes(value));
  return (
    <div class="list-field">
      <Icon name={icon} size={14} />
      <select
        aria-label={name}
        value={isTyped ? otherOption : value}
        onChange={({ currentTarget }) => {
          setOther(currentTarget.value === otherOption);
          change(currentTarget.value === otherOption ? '' : currentTarget.value);
        }}
      >
        <option value="">{defaultName}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
        <option value={otherOption}>Other…</option>
      </select>
      {isTyped ? (
        <input
          aria-label={`Other ${name.toLowerCase()}`}
          value={value}
          placeholder={name === 'Model' ? 'provider/model' : 'A path on the server'}
          spellcheck={false}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : null}
    </div>
  );
}
