// Checks the JSON of a claim with a schema that the caller gives as a function.
import type { Json } from '../../core/index.ts';
import type { Claim, ClaimVerdict, Verifier } from '../types.ts';
import { findCodeBlocks, maxCodeChars } from './fenced-code.ts';
import { computedEvidence, decideExactly, isReadable, verifier } from './verifier.ts';

/** The options of a verifier of JSON. */
export type JsonVerifierOptions = {
  /** The name of the verifier. */
  readonly name?: string;
  /** Returns why a value does not match the schema, or undefined. The validator of `createValidator` in `fairlead/agent` has this form. */
  readonly validate: (value: Json) => string | undefined;
};

/** A sentence that says no more than that the JSON matches the schema. */
const matching =
  /^(?:(?:the following|this|the) )?(?:json|value|object|document|output)(?: (?:below|above))? (?:matches|conforms to|is valid (?:against|for|under)) the schema[:.]?$/i;

/** Creates a verifier that contradicts a claim whose JSON does not match a schema. JSON that matches supports only a claim that says no more than that. */
export function createJsonVerifier(options: JsonVerifierOptions): Verifier {
  const { name = 'json-schema', validate } = options;
  const check = (code: string): string | undefined => {
    let value: Json;
    try {
      value = JSON.parse(code) as Json;
    } catch (error) {
      return `no JSON: ${(error as Error).message}`;
    }
    return validate(value);
  };
  const verify = ({ text }: Claim): ClaimVerdict | undefined => {
    const { blocks, rest } = readJson(text);
    if (blocks.length === 0 || blocks.some((code) => code.length > maxCodeChars)) return undefined;
    for (const code of blocks) {
      const problem = check(code);
      if (problem !== undefined)
        return decideExactly(
          'contradicted',
          name,
          [computedEvidence(name, problem)],
          'The JSON does not match the schema.',
        );
    }
    if (!matching.test(rest)) return undefined;
    const evidence = computedEvidence(name, `${blocks.length} of ${blocks.length} values match the schema`);
    return decideExactly(
      'supported',
      name,
      [evidence],
      'The JSON matches the schema, and the claim says no more than that.',
    );
  };
  return verifier({ name, handles: (claim) => isReadable(claim) && /[[{]/.test(claim.text), verify });
}

/** The JSON of a claim: its fenced blocks, or all of it. */
function readJson(text: string): { readonly blocks: readonly string[]; readonly rest: string } {
  const { blocks, rest } = findCodeBlocks(text);
  if (blocks.length > 0)
    return { blocks: blocks.filter(({ language }) => language === 'json').map(({ code }) => code), rest };
  const trimmed = text.trim();
  return /^[[{][^]*[\]}]$/.test(trimmed) ? { blocks: [trimmed], rest: '' } : { blocks: [], rest: trimmed };
}
