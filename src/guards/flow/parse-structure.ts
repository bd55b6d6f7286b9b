// Parses the text of a tool result into fields: JSON, YAML, or a literal of Python. Text without fields is one string.
import type * as Yaml from 'yaml';
import type { Json } from '../../core/index.ts';
import type * as PythonLiteral from './python-literal.ts';

let yaml: typeof Yaml | undefined;
let python: typeof PythonLiteral | undefined;

/** Loads what parses YAML and literals of Python; before that, such text counts as text without fields. */
export async function loadYaml(): Promise<void> {
  python ??= await import('./python-literal.ts');
  yaml ??= await import('yaml');
}

const maxStructuredChars = 5_000_000;

/** Marks that programs put around results, such as a fence or the delimiters of spotlighting. */
const wrappers = [
  /^<outside-text from="[^"\n]*">\n([^]*)\n<\/outside-text>$/,
  /^<<([^]*)>>$/,
  /^```[a-z]*\n([^]*)\n```$/,
];

/** Returns the value that a text holds; undefined if it has no fields. */
export function parseStructure(given: string): Json | undefined {
  if (given.length > maxStructuredChars) return undefined;
  let text = given.trim();
  for (const wrapper of wrappers) text = wrapper.exec(text)?.[1]?.trim() ?? text;
  const start = text.trimStart()[0];
  if (start === '{' || start === '[') {
    try {
      return JSON.parse(text) as Json;
    } catch {
      return python?.parsePythonLiteral(text.trim());
    }
  }
  if (!yaml || !/^(?:- |- ?\n|[\w-]{1,60}:(?: |\n|$))/m.test(text.slice(0, 200)) || !/^(?:-|[\w-]{1,60}:)/.test(text))
    return undefined;
  try {
    const value: unknown = yaml.parse(text, { maxAliasCount: 0, schema: 'failsafe' });
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
