// Which files of a call other programs run or obey unasked: a change of them is asked about whatever was allowed before.
import path from 'node:path';
import { isObject, normalizeFileName, type ToolCall } from '../core/index.ts';
import type { ResolvePath } from './grants.ts';
import { autoExecutedPaths } from './sandbox/mounts.ts';

/** The names of this kind on the way to what a call changes, each once. */
export function findAutoExecutedFiles({ input }: Pick<ToolCall, 'input'>, locate: ResolvePath): readonly string[] {
  const { path: one, paths: several } = isObject(input) ? input : {};
  const given = [one, ...(Array.isArray(several) ? several : [])].filter((each) => typeof each === 'string');
  const names = given.flatMap((each) => relativeToCwd(each, locate).split(/[/\\]/)).map(normalizeFileName);
  return autoExecutedPaths.filter((each) => names.includes(each));
}

/** From the working folder, so that its own name does not count. */
function relativeToCwd(given: string, locate: ResolvePath): string {
  try {
    return path.relative(locate('.'), locate(given));
  } catch {
    return given;
  }
}
