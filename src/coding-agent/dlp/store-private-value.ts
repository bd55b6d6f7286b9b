// Marks a value as private: at once for this process, and in `dlp.json` of the user for later sessions and exports.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import type { Settings } from '../settings/index.ts';
import { markPrivateValue } from './marked-values.ts';

const fileOf = ({ config }: Pick<Settings['dirs'], 'config'>): string => path.join(config, 'dlp.json');

/** Returns the names of the private values in the file of the user. */
export function listPrivateNames(dirs: Pick<Settings['dirs'], 'config'>): readonly string[] {
  const { values } = readPolicyFile(fileOf(dirs));
  return isObject(values) ? Object.keys(values) : [];
}

/** Marks and stores a value; returns its name, which placeholders and audit facts show. Throws if it cannot be searched for or stored. */
export function storePrivateValue(value: string, dirs: Pick<Settings['dirs'], 'config'>): string {
  const file = fileOf(dirs);
  const policy = readPolicyFile(file);
  const values = isObject(policy['values']) ? policy['values'] : {};
  const known = Object.entries(values).find(([, each]) => each === value.trim())?.[0];
  const name = known ?? nextName(values);
  if (!markPrivateValue(name, value))
    throw new FairleadError('dlp/bad-value', 'A private value has 3 to 10,000 characters.', { blame: 'user' });
  if (known !== undefined) return name;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ ...policy, values: { ...values, [name]: value.trim() } }, undefined, 2)}\n`;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return name;
}

function nextName(values: JsonObject): string {
  let number = Object.keys(values).length + 1;
  while (Object.hasOwn(values, `private ${number}`)) number += 1;
  return `private ${number}`;
}

function readPolicyFile(file: string): JsonObject {
  if (!existsSync(file)) return {};
  try {
    const parsed = JSON.parse(readFileSync(file, 'utf8')) as Json;
    if (isObject(parsed)) return parsed;
  } catch (error) {
    throw new FairleadError('dlp/bad-policy', `${file} cannot be read as JSON: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'See docs/dlp.md.',
    });
  }
  throw new FairleadError('dlp/bad-policy', `${file} has no object.`, { blame: 'user', hint: 'See docs/dlp.md.' });
}
