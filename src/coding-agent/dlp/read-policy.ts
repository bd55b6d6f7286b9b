// Reads the policy of data loss prevention: the setting `dlp`, and `dlp.json` in the config directory with patterns, private values and tenants.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError } from '../../core/index.ts';
import {
  blockedError,
  countFindings,
  createDlpPolicy,
  parseDlpPolicy,
  type DlpAction,
  type DlpPolicy,
} from '../../guards/dlp/index.ts';
import type { Settings } from '../settings/index.ts';

/** The settings that the policy depends on. */
export type DlpSettings = Pick<Settings, 'all' | 'dirs'> & { readonly tenant?: string | undefined };

/** The action of the setting. */
export const findDlpAction = ({ all }: Pick<Settings, 'all'>): DlpAction =>
  (all.get('dlp')?.value ?? 'observe') as DlpAction;

/** Reads the policy, for a tenant if one is named. A file that cannot be read or parsed is an error: nothing is sent without the policy that the user wrote. */
export function readDlpPolicy({ all, dirs, tenant }: DlpSettings): DlpPolicy {
  const file = path.join(dirs.config, 'dlp.json');
  return createDlpPolicy(parseDlpPolicy(readJson(file), { tenant, action: findDlpAction({ all }), source: file }));
}

function readJson(file: string): unknown {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new FairleadError('dlp/bad-policy', `${file} cannot be read as JSON: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'See docs/dlp.md.',
    });
  }
}

/** Applies the policy of exports to a text: redacts it, or throws if the policy blocks it. In a terminal the user who exports is the user to ask, so `ask` redacts. */
export function redactExport(text: string, format: string, policy: DlpPolicy): string {
  const { scanner, actionFor, isEnforced, isOff } = policy;
  if (isOff('exports') || !isEnforced('exports')) return text;
  const blocked = scanner.find(text).filter(({ kind }) => actionFor('exports', kind) === 'block');
  if (blocked.length > 0) throw blockedError(countFindings(blocked), 'the export');
  const redacted = scanner.redact(text, (value, { kind }) =>
    ['redact', 'ask'].includes(actionFor('exports', kind)) ? `[removed: ${kind}]` : value,
  );
  // A number without quotes would become text without quotes.
  if (format === 'json') JSON.parse(redacted);
  return redacted;
}
