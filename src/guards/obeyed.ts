// Which files of a call other programs run or obey unasked: a change of them is asked about whatever was allowed before.
import path from 'node:path';
import { isObject, type ToolCall } from '../core/index.ts';
import type { Locate } from './grants.ts';
import { runByOthers } from './sandbox/visible-folders.ts';

/** The names of this kind on the way to what a call changes, each once. */
export function obeyedIn({ input }: Pick<ToolCall, 'input'>, locate: Locate): readonly string[] {
  const { path: one, paths: several } = isObject(input) ? input : {};
  const given = [one, ...(Array.isArray(several) ? several : [])].filter((each) => typeof each === 'string');
  const names = given.flatMap((each) => wayTo(each, locate).split(/[/\\]/)).map(folded);
  return runByOthers.filter((each) => names.includes(each));
}

/** From the working folder, so that its own name does not count. */
function wayTo(given: string, locate: Locate): string {
  try {
    return path.relative(locate('.'), locate(given));
  } catch {
    return given;
  }
}

/** File systems may fold case and Unicode forms, and drop trailing dots and blanks. */
const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[. ]+$/, '');
