// Parses the fenced code of a claim: JSON, JavaScript, TypeScript and YAML. Code that does not parse is contradicted; the code is never run.
import { errorMessage, systemErrorCode, yamlBoundError } from '../../core/index.ts';
import type { Claim, ClaimVerdict, Verifier } from '../types.ts';
import { hasTraits, traits } from './claim-traits.ts';
import { findCodeBlocks, maxCodeChars, type CodeBlock } from './fenced-code.ts';
import { computedEvidence, decideExactly, isReadable, verifier } from './verifier.ts';

const name = 'code';

/** Why code does not parse; undefined if it does, null if that cannot be decided. */
type Parse = (code: string) => string | undefined | null | Promise<string | undefined | null>;

function parseJson(code: string): string | undefined {
  try {
    JSON.parse(code);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

async function parseYaml(code: string): Promise<string | undefined | null> {
  if (yamlBoundError(code) !== undefined) return null;
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(code, { logLevel: 'silent' });
  const errors = Array.isArray(documents) ? documents.flatMap((document) => document.errors) : [];
  return errors[0]?.message.split('\n')[0];
}

/** An ellipsis that stands for code that was left out. */
const hasGap = (code: string): boolean =>
  /^\s*(?:\.\.\.|…)|(?:\.\.\.|…)\s*$|\(\s*\.\.\.\s*\)|\{\s*\.\.\.\s*\}/m.test(code);

/** TypeScript and JavaScript are parsed as a module, and then as the body of a function: an example may return or await. */
async function parseScript(code: string): Promise<string | undefined | null> {
  const { stripTypeScriptTypes } = await import('node:module');
  if (typeof stripTypeScriptTypes !== 'function') return null;
  let problem: string | undefined;
  for (const source of [code, `async function* example() {\n${code}\n}`]) {
    const result = quietly(() => tryParse(() => stripTypeScriptTypes(source)));
    if (result === undefined || result === null) return result;
    problem ??= result;
  }
  return hasGap(code) ? null : problem;
}

function tryParse(parse: () => void): string | undefined | null {
  try {
    parse();
    return undefined;
  } catch (error) {
    return systemErrorCode(error) === 'ERR_INVALID_TYPESCRIPT_SYNTAX'
      ? (errorMessage(error).trim().split('\n')[0] ?? 'a syntax error')
      : null;
  }
}

/** Suppresses Node's experimental warning, which the user cannot act on. */
function quietly<T>(work: () => T): T {
  const emitWarning: unknown = Reflect.get(process, 'emitWarning');
  Object.assign(process, { emitWarning: () => {} });
  try {
    return work();
  } finally {
    Object.assign(process, { emitWarning });
  }
}

const parsers: Readonly<Record<string, { readonly title: string; readonly parse: Parse }>> = {
  json: { title: 'JSON', parse: parseJson },
  yaml: { title: 'YAML', parse: parseYaml },
  js: { title: 'JavaScript', parse: parseScript },
  ts: { title: 'TypeScript', parse: parseScript },
};

const languages: Readonly<Record<string, string>> = {
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
  js: 'js',
  mjs: 'js',
  javascript: 'js',
  ts: 'ts',
  mts: 'ts',
  typescript: 'ts',
};

/** A sentence that says no more than that the code parses. */
const validity =
  /^(?:(?:the following|this|the) )?(?:(?:block of )?(?:code|json|yaml|javascript|typescript|snippet|document|example|is)(?: (?:code|snippet|document))?)(?: (?:below|above))?(?: (?:parses|is (?:syntactically (?:valid|correct)|well-formed|valid (?:json|yaml|javascript)|valid)))[:.]?$/i;
const invalidity = /\b(?:not|invalid|broken|fails?|error|wrong|malformed|does(?:n't| not)|before|instead)\b/i;

async function parseBlock({
  language,
  code,
}: CodeBlock): Promise<{ title: string; problem: string | undefined } | undefined> {
  const parser = Object.hasOwn(languages, language) ? parsers[languages[language] ?? ''] : undefined;
  if (!parser || code.length > maxCodeChars) return undefined;
  const problem = await parser.parse(code);
  return problem === null ? undefined : { title: parser.title, problem };
}

async function verifyCode({ text }: Claim): Promise<ClaimVerdict | undefined> {
  const { blocks, rest } = findCodeBlocks(text);
  const titles: string[] = [];
  for (const block of blocks) {
    const parsed = await parseBlock(block);
    if (parsed === undefined) continue;
    if (parsed.problem !== undefined) {
      if (invalidity.test(rest)) return undefined;
      const evidence = computedEvidence(name, `${parsed.title}: ${parsed.problem}`);
      return decideExactly('contradicted', name, [evidence], `The ${parsed.title} of the claim does not parse.`);
    }
    titles.push(parsed.title);
  }
  if (titles.length === 0 || titles.length < blocks.length || !validity.test(rest)) return undefined;
  if (titles.some((title) => statesOther(rest, title) || (/ is valid[:.]?$/i.test(rest) && !isData(title))))
    return undefined;
  const evidence = computedEvidence(name, titles.map((title) => `${title}: parses without an error`).join('\n'));
  return decideExactly('supported', name, [evidence], 'The code parses, and the claim says no more than that.');
}

/** Code that is valid must also do what it should; data is valid if it parses. */
const isData = (title: string): boolean => title === 'JSON' || title === 'YAML';

/** Whether a sentence names another language than the one that was parsed. */
const statesOther = (rest: string, title: string): boolean =>
  [...rest.matchAll(/\b(?:json|yaml|javascript|typescript)\b/gi)].some(
    ([language]) => language.toLowerCase() !== title.toLowerCase(),
  );

/** Contradicts a claim whose fenced JSON, JavaScript, TypeScript or YAML does not parse; other languages are not decided. */
export const codeVerifier: Verifier = verifier({
  name,
  handles: (claim) =>
    isReadable(claim) && hasTraits(claim.text, traits.tick) && /^[ \t]{0,3}(?:```|~~~)/m.test(claim.text),
  verify: verifyCode,
});
