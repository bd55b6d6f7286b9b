// Names of cache handles: JavaScript identifiers, so that code can use them as variables.
import { FairleadError } from '../core/index.ts';

const identifierPattern = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]{0,99}$/u;

/** Words that strict mode cannot bind, and `__proto__`, which would set a prototype. */
const reserved = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally ' +
    'for function if implements import in instanceof interface let new null package private protected public return static super ' +
    'switch this throw true try typeof var void while with yield __proto__'
  ).split(' '),
);

const isHandleName = (name: string): boolean => identifierPattern.test(name) && !reserved.has(name);

/** Throws unless the name is a usable identifier. */
export function assertHandleName(name: string): void {
  if (typeof name === 'string' && isHandleName(name)) return;
  throw new FairleadError('cache/bad-name', `A handle cannot be named ${JSON.stringify(name)}.`, {
    blame: 'user',
    hint: 'Use a JavaScript identifier that is not a reserved word, at most 100 characters long.',
  });
}

/** The handle name for results of a tool: the last part of the tool's name as an identifier. */
export function handleNameOfTool(tool: string): string {
  const last = tool.split('__').at(-1) || tool;
  const name = last.replaceAll(/[^\w$]/g, '_').slice(0, 90);
  if (isHandleName(name)) return name;
  return isHandleName(`_${name}`) ? `_${name}` : 'result';
}
