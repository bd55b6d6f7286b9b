// Validates requests as Google's generateContent API does.
import { isObject } from '../../core/index.ts';
import {
  assertArray,
  assertNonEmptyArray,
  failValidation,
  assertObject,
  assertUnique,
  assertOneOf,
  formatValue,
  assertToolName,
  assertNonEmptyString,
  type RequestObject,
} from './assertions.ts';

const functionNamePattern = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const payloadKeys = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/** Throws unless this is a valid generateContent request. */
export function validateGoogleRequest(body: RequestObject, model = ''): void {
  if (body['systemInstruction'] !== undefined)
    contentParts(assertObject(body['systemInstruction'], 'systemInstruction'), 'systemInstruction');
  validateToolConfig(body['toolConfig'], validateTools(body['tools']));
  const contents = assertNonEmptyArray(body['contents'], 'contents').map((value, i) =>
    assertObject(value, `contents[${i}]`),
  );
  let open: readonly RequestObject[] = [];
  for (const [i, content] of contents.entries()) {
    const where = `contents[${i}]`;
    const role = assertOneOf(content['role'] ?? 'user', ['user', 'model', 'function'], `${where}.role`);
    const parts = contentParts(content, where);
    const calls = payloadsOf(parts, 'functionCall');
    const results = payloadsOf(parts, 'functionResponse');
    if (i === 0 && role === 'model') failValidation(where, 'is the first content and must have the role user.');
    if (role === 'model' && results.length) failValidation(where, 'is a model content and has a functionResponse.');
    if (role !== 'model' && calls.length) failValidation(where, 'is not a model content and has a functionCall.');
    calls.forEach((call, n) => validateFunctionCall(call, `${where}, function call ${n}`));
    // The service treats neighbouring contents of one role as one turn.
    if (role === 'model') {
      open = contents[i - 1]?.['role'] === 'model' ? [...open, ...calls] : calls;
      continue;
    }
    validateFunctionResponses(open, results, where);
    open = [];
  }
  if (open.length)
    failValidation('The end of the contents', `comes before the response to ${formatValue(open[0]?.['name'])}.`);
  if (model.startsWith('gemini-3')) validateThoughtSignatures(contents);
}

function contentParts(content: RequestObject, where: string): readonly RequestObject[] {
  const parts = assertNonEmptyArray(content['parts'], `${where}.parts`);
  return parts.map((value, i) => {
    const here = `${where}.parts[${i}]`;
    const part = assertObject(value, here);
    const held = payloadKeys.filter((key) => part[key] !== undefined);
    if (held.length !== 1)
      failValidation(
        here,
        `has ${held.length === 0 ? 'no content' : held.join(' and ')}; a part must have exactly one content.`,
      );
    // A text may be empty if it is the only part or has a signature.
    if (part['text'] !== undefined && part['thoughtSignature'] === undefined && parts.length > 1)
      assertNonEmptyString(part['text'], `${here}.text`);
    return part;
  });
}

const payloadsOf = (parts: readonly RequestObject[], key: string): readonly RequestObject[] =>
  parts.flatMap((part) => (part[key] === undefined ? [] : [assertObject(part[key], key)]));

function validateFunctionCall(call: RequestObject, where: string): void {
  assertToolName(call['name'], functionNamePattern, `${where}.name`);
  if (call['args'] !== undefined) assertObject(call['args'], `${where}.args`);
}

/** Asserts as many responses as calls, in the next turn, each for its own call. */
function validateFunctionResponses(
  calls: readonly RequestObject[],
  results: readonly RequestObject[],
  where: string,
): void {
  if (calls.length !== results.length)
    failValidation(
      where,
      `has ${results.length} function responses and the turn before it ${calls.length} function calls; the numbers must be equal.`,
    );
  for (const [i, result] of results.entries()) {
    const here = `${where}, function response ${i}`;
    const call = calls[i] as RequestObject;
    assertObject(result['response'], `${here}.response`);
    if (result['name'] !== call['name'])
      failValidation(
        here,
        `is for ${formatValue(result['name'])}, but the call at its position is of ${formatValue(call['name'])}.`,
      );
    if (call['id'] !== undefined && result['id'] !== undefined && call['id'] !== result['id'])
      failValidation(
        here,
        `has the id ${formatValue(result['id'])}, but the call at its position has ${formatValue(call['id'])}.`,
      );
  }
}

/** Since Gemini 3 the first call of each step of the current turn must include its thought signature. */
function validateThoughtSignatures(contents: readonly RequestObject[]): void {
  const turn = contents.findLastIndex(
    (content) =>
      content['role'] === 'user' &&
      payloadsOf(assertArray(content['parts'], 'parts') as readonly RequestObject[], 'functionResponse').length === 0,
  );
  for (const [i, content] of contents.entries()) {
    if (i < turn || content['role'] !== 'model') continue;
    const first = (assertArray(content['parts'], 'parts') as readonly RequestObject[]).find(
      (part) => part['functionCall'] !== undefined,
    );
    if (first && first['thoughtSignature'] === undefined)
      failValidation(`contents[${i}]`, 'has no thoughtSignature in its first function call.');
  }
}

function validateTools(value: unknown): ReadonlySet<string> {
  const seen = new Set<string>();
  // A single tool may be given without a list.
  for (const [i, each] of assertArray(isObject(value) ? [value] : (value ?? []), 'tools').entries()) {
    const declared = assertObject(each, `tools[${i}]`)['functionDeclarations'];
    if (declared === undefined) continue;
    for (const [n, declaration] of assertNonEmptyArray(declared, `tools[${i}].functionDeclarations`).entries()) {
      const where = `tools[${i}].functionDeclarations[${n}]`;
      const { name, parameters } = assertObject(declaration, where);
      assertUnique(seen, assertToolName(name, functionNamePattern, `${where}.name`), `${where}.name`);
      if (parameters !== undefined)
        validateSchema(assertObject(parameters, `${where}.parameters`), `${where}.parameters`);
    }
  }
  return seen;
}

/** The older schema format does not support the keywords that only JSON Schema has. */
function validateSchema(schema: RequestObject, where: string): void {
  if (String(schema['type']).toLowerCase() !== 'object')
    failValidation(`${where}.type`, `is ${formatValue(schema['type'])} and must be "object".`);
  if ('$schema' in schema) failValidation(`${where}.$schema`, 'is not supported by this API.');
}

function validateToolConfig(value: unknown, offered: ReadonlySet<string>): void {
  if (value === undefined) return;
  const config = assertObject(value, 'toolConfig')['functionCallingConfig'];
  if (config === undefined) return;
  const { mode, allowedFunctionNames } = assertObject(config, 'toolConfig.functionCallingConfig');
  if (mode !== undefined)
    assertOneOf(mode, ['AUTO', 'ANY', 'NONE', 'VALIDATED'], 'toolConfig.functionCallingConfig.mode');
  for (const name of assertArray(allowedFunctionNames ?? [], 'toolConfig.functionCallingConfig.allowedFunctionNames'))
    if (!offered.has(String(name)))
      failValidation(
        'toolConfig.functionCallingConfig.allowedFunctionNames',
        `names ${formatValue(name)}, which is not among the tools.`,
      );
}
