// What Google's generateContent refuses.
import { isObject } from '../../core/index.ts';
import { array, filled, illegal, object, once, oneOf, show, toolName, words, type Row } from './demand.ts';

const names = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const payloads = [
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

/** Demands a legal generateContent request. */
export function googleLegal(body: Row, model = ''): void {
  if (body['systemInstruction'] !== undefined)
    partsOf(object(body['systemInstruction'], 'systemInstruction'), 'systemInstruction');
  choiceLegal(body['toolConfig'], toolsLegal(body['tools']));
  const contents = filled(body['contents'], 'contents').map((value, i) => object(value, `contents[${i}]`));
  let open: readonly Row[] = [];
  for (const [i, content] of contents.entries()) {
    const where = `contents[${i}]`;
    const role = oneOf(content['role'] ?? 'user', ['user', 'model', 'function'], `${where}.role`);
    const parts = partsOf(content, where);
    const calls = payload(parts, 'functionCall');
    const results = payload(parts, 'functionResponse');
    if (i === 0 && role === 'model') illegal(where, 'is the first content and must be of the user.');
    if (role === 'model' && results.length) illegal(where, 'is a turn of the model and holds a functionResponse.');
    if (role !== 'model' && calls.length) illegal(where, 'is not a turn of the model and holds a functionCall.');
    calls.forEach((call, n) => callLegal(call, `${where}, function call ${n}`));
    // Neighbouring contents of one role are one turn to the service.
    if (role === 'model') {
      open = contents[i - 1]?.['role'] === 'model' ? [...open, ...calls] : calls;
      continue;
    }
    answersLegal(open, results, where);
    open = [];
  }
  if (open.length) illegal('The end of the contents', `comes before the response to ${show(open[0]?.['name'])}.`);
  if (model.startsWith('gemini-3')) signaturesLegal(contents);
}

function partsOf(content: Row, where: string): readonly Row[] {
  const parts = filled(content['parts'], `${where}.parts`);
  return parts.map((value, i) => {
    const here = `${where}.parts[${i}]`;
    const part = object(value, here);
    const held = payloads.filter((key) => part[key] !== undefined);
    if (held.length !== 1)
      illegal(here, `holds ${held.length === 0 ? 'nothing' : held.join(' and ')}; a part holds one thing.`);
    // A text may be empty if it stands alone or carries a signature.
    if (part['text'] !== undefined && part['thoughtSignature'] === undefined && parts.length > 1)
      words(part['text'], `${here}.text`);
    return part;
  });
}

const payload = (parts: readonly Row[], key: string): readonly Row[] =>
  parts.flatMap((part) => (part[key] === undefined ? [] : [object(part[key], key)]));

function callLegal(call: Row, where: string): void {
  toolName(call['name'], names, `${where}.name`);
  if (call['args'] !== undefined) object(call['args'], `${where}.args`);
}

/** As many responses as calls, in the turn directly after, each to its own. */
function answersLegal(calls: readonly Row[], results: readonly Row[], where: string): void {
  if (calls.length !== results.length)
    illegal(
      where,
      `holds ${results.length} function responses and the turn before it ${calls.length} function calls; the numbers must be equal.`,
    );
  for (const [i, result] of results.entries()) {
    const here = `${where}, function response ${i}`;
    const call = calls[i] as Row;
    object(result['response'], `${here}.response`);
    if (result['name'] !== call['name'])
      illegal(here, `is for ${show(result['name'])}, but the call in its place is of ${show(call['name'])}.`);
    if (call['id'] !== undefined && result['id'] !== undefined && call['id'] !== result['id'])
      illegal(here, `has the id ${show(result['id'])}, but the call in its place has ${show(call['id'])}.`);
  }
}

/** Since Gemini 3 the first call of each step of the current turn brings its thought signature back. */
function signaturesLegal(contents: readonly Row[]): void {
  const turn = contents.findLastIndex(
    (content) =>
      content['role'] === 'user' &&
      payload(array(content['parts'], 'parts') as readonly Row[], 'functionResponse').length === 0,
  );
  for (const [i, content] of contents.entries()) {
    if (i < turn || content['role'] !== 'model') continue;
    const first = (array(content['parts'], 'parts') as readonly Row[]).find(
      (part) => part['functionCall'] !== undefined,
    );
    if (first && first['thoughtSignature'] === undefined)
      illegal(`contents[${i}]`, 'lacks the thoughtSignature of its first function call.');
  }
}

function toolsLegal(value: unknown): ReadonlySet<string> {
  const seen = new Set<string>();
  // One tool may stand without its list.
  for (const [i, each] of array(isObject(value) ? [value] : (value ?? []), 'tools').entries()) {
    const declared = object(each, `tools[${i}]`)['functionDeclarations'];
    if (declared === undefined) continue;
    for (const [n, declaration] of filled(declared, `tools[${i}].functionDeclarations`).entries()) {
      const where = `tools[${i}].functionDeclarations[${n}]`;
      const { name, parameters } = object(declaration, where);
      once(seen, toolName(name, names, `${where}.name`), `${where}.name`);
      if (parameters !== undefined) schemaLegal(object(parameters, `${where}.parameters`), `${where}.parameters`);
    }
  }
  return seen;
}

/** The older form of a schema does not know the names that only JSON Schema has. */
function schemaLegal(schema: Row, where: string): void {
  if (String(schema['type']).toLowerCase() !== 'object')
    illegal(`${where}.type`, `is ${show(schema['type'])} and must be "object".`);
  if ('$schema' in schema) illegal(`${where}.$schema`, 'is not known to this API.');
}

function choiceLegal(value: unknown, offered: ReadonlySet<string>): void {
  if (value === undefined) return;
  const config = object(value, 'toolConfig')['functionCallingConfig'];
  if (config === undefined) return;
  const { mode, allowedFunctionNames } = object(config, 'toolConfig.functionCallingConfig');
  if (mode !== undefined) oneOf(mode, ['AUTO', 'ANY', 'NONE', 'VALIDATED'], 'toolConfig.functionCallingConfig.mode');
  for (const name of array(allowedFunctionNames ?? [], 'toolConfig.functionCallingConfig.allowedFunctionNames'))
    if (!offered.has(String(name)))
      illegal(
        'toolConfig.functionCallingConfig.allowedFunctionNames',
        `names ${show(name)}, which is not among the tools.`,
      );
}
