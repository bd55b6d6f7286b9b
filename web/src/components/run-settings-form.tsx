// Optional settings of a new run, collapsed by default.
import type { JSX } from 'preact';
import type { RunRequest } from '../api/types.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { FormField } from './primitives.tsx';

/** The values of the form, as typed. */
export type NewRunSettings = Readonly<
  Partial<
    Record<
      'model' | 'folder' | 'tenant' | 'priority' | 'turns' | 'usd' | 'tokens' | 'minutes' | 'answer' | 'models',
      string
    >
  >
> & { readonly auto?: boolean };

const numberFields = {
  priority: 'priority',
  turns: 'turns',
  usd: 'max cost',
  tokens: 'tokens',
  minutes: 'minutes',
} as const;

/** Returns what is wrong with the values: an invalid limit must not be ignored silently. */
export function validateRunSettings(settings: NewRunSettings): string | undefined {
  for (const [name, words] of Object.entries(numberFields)) {
    const typed = settings[name as keyof typeof numberFields]?.trim() ?? '';
    const isGood = typed === '' || (Number.isFinite(Number(typed)) && (name === 'priority' || Number(typed) > 0));
    if (!isGood)
      return `“${typed}” under Limits and settings is not a valid value for ${words}; write a number such as 2.5.`;
  }
  return undefined;
}

/** Returns the values as request fields, without empty ones. */
export function parseRunSettings(settings: NewRunSettings, way: string): Omit<RunRequest, 'prompt'> {
  const text = (value: string | undefined): string | undefined => value?.trim() || undefined;
  const number = (value: string | undefined): number | undefined => {
    const read = Number(text(value));
    return text(value) === undefined || !Number.isFinite(read) ? undefined : read;
  };
  const minutes = number(settings.minutes);
  const limits = omitUndefined({
    turns: number(settings.turns),
    usd: number(settings.usd),
    tokens: number(settings.tokens),
    ms: minutes === undefined ? undefined : Math.round(minutes * 60_000),
  });
  const models = text(settings.models)?.split(/[\s,]+/);
  return omitUndefined({
    model: text(settings.model),
    folder: text(settings.folder),
    auto: settings.auto ? true : undefined,
    tenant: text(settings.tenant),
    priority: number(settings.priority),
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    answer: way === 'verify' ? text(settings.answer) : undefined,
    models: way === 'verify' ? models : undefined,
  });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const omitUndefined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;

type RunSettingsFormProps = {
  readonly settings: NewRunSettings;
  readonly way: string;
  readonly change: (settings: NewRunSettings) => void;
};

/** The rarely used settings of a run. */
export function RunSettingsForm({ settings, way, change }: RunSettingsFormProps): JSX.Element {
  const may = usePermission('operator');
  const field = (name: Exclude<keyof NewRunSettings, 'auto'>, inputMode?: 'decimal' | 'numeric'): JSX.Element => (
    <input
      name={name}
      value={settings[name] ?? ''}
      inputMode={inputMode}
      spellcheck={false}
      onInput={(event) => change({ ...settings, [name]: event.currentTarget.value })}
    />
  );
  return (
    <>
      {way === 'verify' ? (
        <div class="fields">
          <FormField name="Answer to verify" hint="Empty: the models answer the question themselves.">
            <textarea
              rows={3}
              value={settings.answer ?? ''}
              onInput={(event) => change({ ...settings, answer: event.currentTarget.value })}
            />
          </FormField>
          <FormField name="Models" hint="Model names, separated by spaces.">
            {field('models')}
          </FormField>
        </div>
      ) : null}
      <details class="settings">
        <summary>Limits and settings{formatSettingsSummary(settings)}</summary>
        <div class="fields">
          <FormField name="Max turns">{field('turns', 'numeric')}</FormField>
          <FormField name="Max cost (USD)">{field('usd', 'decimal')}</FormField>
          <FormField name="Max tokens">{field('tokens', 'numeric')}</FormField>
          <FormField name="Max minutes">{field('minutes', 'decimal')}</FormField>
          <FormField name="Tenant" hint="The tenant whose budget is charged. Default: default.">
            {field('tenant')}
          </FormField>
          <FormField name="Priority" hint="Runs with a higher priority start first.">
            {field('priority', 'numeric')}
          </FormField>
          <label class="check wide">
            <input
              type="checkbox"
              checked={may && (settings.auto ?? false)}
              disabled={!may}
              onChange={(event) => change({ ...settings, auto: event.currentTarget.checked })}
            />
            Approve automatically what the policy would ask about{may ? '' : ' (operator key only)'}
          </label>
        </div>
      </details>
    </>
  );
}

function formatSettingsSummary(settings: NewRunSettings): string {
  const labels = { ...numberFields, tenant: 'tenant' };
  const names = Object.entries(labels).flatMap(([name, words]) => {
    const value = settings[name as keyof typeof labels]?.trim();
    return value ? [`${words} ${value}`] : [];
  });
  return [...names, ...(settings.auto ? ['automatic approval'] : [])].map((each) => ` · ${each}`).join('');
}
