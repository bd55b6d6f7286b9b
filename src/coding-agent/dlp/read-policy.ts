// Reads the policy of data loss prevention: the setting `dlp`, and `dlp.json` in the config directory with patterns, private values and tenants.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, type Json } from '../../core/index.ts';
import {
  createDlpPolicy,
  guardText,
  mapStrings,
  parseDlpPolicy,
  type DlpPolicy,
  type DlpPolicyAction,
  type GuardedResult,
} from '../../guards/dlp/index.ts';
import type { Settings } from '../settings/index.ts';
import { markedValues, markPrivateValue } from './marked-values.ts';

/** The settings that the policy depends on. */
export type DlpSettings = Pick<Settings, 'all' | 'dirs'> & { readonly tenant?: string | undefined };

/** The action of the setting. */
export const findDlpAction = ({ all }: Pick<Settings, 'all'>): DlpPolicyAction =>
  (all.get('dlp')?.value ?? 'checked') as DlpPolicyAction;

/** Reads the policy, for a tenant if one is named. A file that cannot be read or parsed is an error: nothing is sent without the policy that the user wrote. */
export function readDlpPolicy({ all, dirs, tenant }: DlpSettings): DlpPolicy {
  const file = path.join(dirs.config, 'dlp.json');
  const options = parseDlpPolicy(readJson(file), { tenant, action: findDlpAction({ all }), source: file });
  // What a user of this process marked is not a matter of tenants. The flow policy reads the values of the file too.
  if (tenant === undefined)
    for (const [name, value] of Object.entries(options.values ?? {})) markPrivateValue(name, value);
  return createDlpPolicy(options, undefined, tenant === undefined ? markedValues : undefined);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
export function redactExport(text: string, format: string, policy: DlpPolicy): GuardedResult {
  const guarded = guardText(text, policy, 'exports', 'the export');
  if (format !== 'json' || guarded.text === text || isJson(guarded.text)) return guarded;
  // A number without quotes was replaced: each value is guarded on its own.
  const changed = mapStrings(JSON.parse(text) as Json, (each) => guardText(each, policy, 'exports', 'the export').text);
  return { ...guarded, text: `${JSON.stringify(changed, undefined, 2)}\n` };
}
