// Reads the descriptions of tools of others that a request has: their names, descriptions and parameters are text of third parties, also when they change during a session.
import { isObject, type Json, type ToolSpec } from '../../core/index.ts';
import { builtinDeclarations } from './builtin-declarations.ts';
import { valueTokens, type FlowEntry, type FlowState } from './flow-state.ts';

/** The built-in tool whose description lists other tools, one a line. */
const listingTool = 'load_tools';
const maxDescriptionChars = 100_000;

/** Words of JSON Schema itself. */
const schemaWords: ReadonlySet<string> = new Set(
  'type properties required description additionalProperties items enum anyOf oneOf allOf default format title $schema $defs $ref minimum maximum minLength maxLength minItems maxItems pattern const examples object string number integer boolean array null'.split(
    ' ',
  ),
);

/** Returns the untrusted texts of a list of tools that a state does not have yet. Built-in tools are left out, except for lines in which one of them lists tools of others. */
export const readToolDescriptions = (state: FlowState, tools: readonly ToolSpec[]): readonly FlowEntry[] =>
  tools.flatMap(({ name, description, input }): readonly FlowEntry[] => {
    const isBuiltIn = isBuiltInName(name);
    if (isBuiltIn && name !== listingTool) return [];
    const parts = isBuiltIn ? listedTools(description) : [name, description, ...schemaTexts(input)];
    const text = parts.join('\n').slice(0, maxDescriptionChars);
    // Every list of tools repeats the descriptions; a changed one is a new text.
    if (text.trim() === '' || state.findUntrusted(valueTokens(text))) return [];
    return [{ type: 'untrusted', text, source: { tool: `description of ${name}`, call: '' } }];
  });

const isBuiltInName = (name: string): boolean => builtinDeclarations.tools.has(name);

/** The lines after the first one that are not about a built-in tool. */
const listedTools = (description: string): readonly string[] =>
  description
    .split('\n')
    .slice(1)
    .filter(
      (line) =>
        line !== '' && !isBuiltInName(/^\w+(?=: )/.exec(line)?.[0] ?? '') && !line.split(', ').every(isBuiltInName),
    );

function schemaTexts(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => schemaTexts(each as Json));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, each]) => [
      ...(schemaWords.has(key) ? [] : [key]),
      ...schemaTexts(each),
    ]);
  return typeof value === 'string' && !schemaWords.has(value) ? [value] : [];
}
