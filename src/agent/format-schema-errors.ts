// Formats the errors of a JSON Schema validator as one sentence with paths.
import type { OutputUnit } from '@cfworker/json-schema';

const maxErrors = 3;
const maxErrorChars = 200;
const maxErrorsRead = 200;

/** Keywords whose errors only wrap a nested error, which follows in the list. */
const wrapperKeywords = new Set(
  '$ref properties patternProperties additionalProperties unevaluatedProperties propertyNames dependentSchemas items prefixItems additionalItems unevaluatedItems allOf if'.split(
    ' ',
  ),
);

const messageRewrites: readonly (readonly [RegExp, string])[] = [
  [/^Instance type "(.+)" is invalid\. Expected "(.+)"\.$/, 'expected $2, found $1'],
  [/^Instance does not have required property (".+")\.$/s, 'the property $1 is missing'],
  [/^False boolean schema\.$/, 'nothing is allowed here'],
  [/^Instance does not match any of (\[.+\])\.$/s, 'must be one of $1'],
  [/^Instance does not match any subschemas\.$/, 'fits none of the allowed forms'],
  [
    /^Instance does not match exactly one subschema \((\d+) matches\)\.$/,
    'must fit exactly one of the allowed forms, not $1',
  ],
  [/^Instance does not match (.+)\.$/s, 'must be $1'],
  [/^Instance matched "not" schema\.$/, 'has a form that is ruled out'],
  [/^Instance has /, 'has '],
  [/^Instance does not have /, 'does not have '],
];

/** The first errors, each with its path. */
export function formatSchemaErrors(errors: readonly OutputUnit[]): string {
  const found = innermostErrors(errors.slice(0, maxErrorsRead)).map(
    (each) => `at ${errorLocation(each)}: ${formatSchemaError(each)}`,
  );
  const unique = [...new Set(found)];
  const more = unique.length > maxErrors ? `; and ${unique.length - maxErrors} more` : '';
  const sentence = `${unique.slice(0, maxErrors).join('; ')}${more}.`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function formatSchemaError({ keyword, error }: OutputUnit): string {
  if (keyword === 'exclusiveMinimum') return error.replace('is less than', 'must be more than').replace(/\.$/, '');
  if (keyword === 'maxProperties')
    return error.replace('Instance does not have at least', 'has more than').replace(/\.$/, '');
  const [from, to] = messageRewrites.find(([from]) => from.test(error)) ?? [/\.$/, ''];
  const text = error.replace(from, to).replaceAll('", "', ' or ').replace(/\.$/, '');
  return text.length > maxErrorChars ? `${text.slice(0, maxErrorChars)}…` : text;
}

/** The JSON pointer of an error. */
function errorLocation({ instanceLocation }: OutputUnit): string {
  const pointer = instanceLocation.slice(1);
  if (pointer === '') return 'the top level';
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

const isAlternative = (each: OutputUnit): boolean => each.keyword === 'anyOf' || each.keyword === 'oneOf';

function innermostErrors(errors: readonly OutputUnit[]): readonly OutputUnit[] {
  const found: OutputUnit[] = [];
  for (let i = 0; i < errors.length; i++) {
    const error = errors[i] as OutputUnit;
    if (isAlternative(error)) {
      const nested = nestedErrors(errors, i);
      i += nested.length;
      for (const item of closestFormErrors(error, nested)) found.push(item);
    } else if (!wrapperKeywords.has(error.keyword)) found.push(error);
  }
  return found.length ? found : errors.slice(0, 1);
}

/** The errors nested in the one at this index, which follow it directly. */
function nestedErrors(errors: readonly OutputUnit[], index: number): readonly OutputUnit[] {
  const nested = `${errors[index]?.keywordLocation}/`;
  const rest = errors.slice(index + 1);
  const end = rest.findIndex((each) => !each.keywordLocation.startsWith(nested));
  return end < 0 ? rest : rest.slice(0, end);
}

/** Of several alternatives, the errors of the one that matches best. */
function closestFormErrors(choice: OutputUnit, nested: readonly OutputUnit[]): readonly OutputUnit[] {
  const forms = Map.groupBy(
    nested,
    (each) => each.keywordLocation.slice(choice.keywordLocation.length + 1).split('/')[0],
  );
  const errorsOfForms = [...forms.values()].map((form) => innermostErrors(form));
  const near = errorsOfForms.filter(
    (form) => !form.some((each) => each.keyword === 'type' && each.instanceLocation === choice.instanceLocation),
  );
  const tooMany = /\(([2-9]|\d\d+) matches\)/.test(choice.error);
  if (tooMany || errorsOfForms.length === 0) return [choice];
  const [best] = near.toSorted((a, b) => a.length - b.length);
  return best ?? [{ ...choice, error: expectedTypesError(choice, errorsOfForms) }];
}

function expectedTypesError(choice: OutputUnit, errorsOfForms: readonly (readonly OutputUnit[])[]): string {
  const expected = errorsOfForms.flatMap((form) =>
    form.flatMap((each) => /Expected "(.+)"\.$/.exec(each.error)?.[1] ?? []),
  );
  const type = /^Instance type "(.+?)"/.exec(errorsOfForms[0]?.[0]?.error ?? '')?.[1];
  return type ? `Instance type "${type}" is invalid. Expected "${[...new Set(expected)].join(' or ')}".` : choice.error;
}
