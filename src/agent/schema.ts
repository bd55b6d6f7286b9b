// Schemas: JSON Schema, or a schema object of a library that implements Standard Schema, such as zod. No such library is imported.
import { dereference, validate, type Schema, type SchemaDraft, type ValidationResult } from '@cfworker/json-schema';
import { errorMessage, FairleadError, isObject, type OutputSchema, type Json, type JsonObject } from '../core/index.ts';
import { completesInCpuTime, isQuickToApply, isQuickToCompile, maxSchemaChars, measureSchema } from '../tools/index.ts';
import { lintSchema } from './lint-schema.ts';
import { formatSchemaErrors } from './format-schema-errors.ts';

/** The result of a schema library: the parsed value, or the issues. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** An issue that a schema library found. */
export type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** A schema of a library that implements Standard Schema, Standard JSON Schema or both (zod, valibot, arktype and others). */
export type StandardSchema<In = unknown, Out = In> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate?: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Readonly<Record<string, unknown>>;
    };
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
};

/** A JSON Schema, or a schema object that converts to one. */
export type SchemaLike = JsonObject | StandardSchema;

/** The type of a value that was parsed with this schema. */
export type SchemaOutput<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Out }
    ? Out
    : unknown
  : S extends { readonly type: 'object'; readonly properties: object }
    ? JsonSchemaOutput<S>
    : JsonObject;

/** The type of a value that matches a JSON Schema literal, as far as its types, properties, items and enums say. */
type JsonSchemaOutput<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly type: infer Type }
    ? Type extends 'object'
      ? S extends { readonly properties: infer P extends object }
        ? ObjectOutput<P, S extends { readonly required: readonly (infer Key)[] } ? Key : never>
        : JsonObject
      : Type extends 'array'
        ? readonly (S extends { readonly items: infer Item } ? JsonSchemaOutput<Item> : Json)[]
        : Type extends keyof JsonSchemaScalars
          ? JsonSchemaScalars[Type]
          : Json
    : Json;

type ObjectOutput<P, Required> = {
  readonly [K in keyof P as K extends Required ? K : never]: JsonSchemaOutput<P[K]>;
} & { readonly [K in keyof P as K extends Required ? never : K]?: JsonSchemaOutput<P[K]> };

type JsonSchemaScalars = {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
};

/** Converts a schema to JSON Schema, as a copy. Of a schema with transforms it is the input, which the model writes. */
export function toJsonSchema(source: unknown): JsonObject {
  if (!isStandardSchema(source)) return copySchema(source);
  const { jsonSchema, vendor } = source['~standard'];
  if (typeof jsonSchema?.input !== 'function')
    throw new FairleadError('schema/unsupported', `This ${vendor} schema cannot be turned into a JSON Schema.`, {
      blame: 'user',
      hint: 'Use a version of the library that offers Standard JSON Schema, or give a JSON Schema object instead.',
    });
  try {
    const { $schema: _, ...schema } = jsonSchema.input({ target: 'draft-2020-12' });
    return copySchema(schema);
  } catch (cause) {
    throw new FairleadError('schema/unsupported', `This ${vendor} schema has no JSON Schema: ${errorMessage(cause)}.`, {
      blame: 'user',
      hint: 'A model writes JSON: describe what it writes (a date as a text, for example) and transform it from there.',
      cause,
    });
  }
}

/** A function that returns why a value does not match, or undefined. It never throws; a broken or too large schema throws here. */
export function createValidator(schema: JsonObject): (value: Json) => string | undefined {
  // A schema may come from a client, an MCP server or a model: no schema may take longer than the time limit.
  const { check, isQuick } = compileSchema(copySchema(schema));
  let pausedUntil = 0;
  return (value) => {
    if (performance.now() < pausedUntil) return tooSlowMessage;
    try {
      let problem: string | undefined;
      const isDone = (isQuick(value) ? runUntimed : completesInCpuTime)(() => {
        const { valid, errors } = check(value);
        problem = valid ? undefined : formatSchemaErrors(errors);
      });
      if (isDone) return problem;
      // Each further try blocks the process as long again: the pause bounds the share of time that values can take.
      pausedUntil = performance.now() + slowPauseMs;
      return tooSlowMessage;
    } catch (error) {
      return `The value could not be checked: ${errorMessage(error)}`;
    }
  };
}

const tooSlowMessage = 'The value cannot be checked: the schema takes too long for it.';

/** How long a schema is not used after it took too long for a value. */
const slowPauseMs = 5000;

/** Keywords whose work is not bounded by the size of the schema and of the value. */
const unboundedKeywords = /"(?:pattern|patternProperties|format|\$ref|uniqueItems|contains|unevaluated\w+)":/;

const runUntimed = (work: () => void): true => {
  work();
  return true;
};

/** The same for a schema that is known to be valid, compiled at the first use: most tools are not called in most runs. */
export function createLazyValidator(schema: JsonObject): (value: Json) => string | undefined {
  let check: ReturnType<typeof createValidator> | undefined;
  return (value) => (check ??= createValidator(schema))(value);
}

/** Parses a value with the library of a schema. */
export type SchemaParser = (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>;

/** The parser of a schema's library; undefined for a JSON Schema. */
export function getSchemaParser(source: unknown): SchemaParser | undefined {
  if (!isStandardSchema(source)) return undefined;
  const { validate } = source['~standard'];
  return typeof validate === 'function' ? (value) => validate(value) : undefined;
}

/** The synchronous result of a parser: that a value matches, why it does not, or that the parser is asynchronous. It never throws. */
export function parseSync(parse: SchemaParser, value: unknown): 'valid' | 'asynchronous' | { readonly error: string } {
  try {
    const result = parse(value);
    if (!('then' in result)) return result.issues ? { error: formatIssues(result.issues) } : 'valid';
    void Promise.resolve(result).catch(() => {});
    return 'asynchronous';
  } catch (error) {
    return { error: `The value could not be checked: ${errorMessage(error)}` };
  }
}

/** The issues of a schema library as one sentence with their paths. */
export function formatIssues(issues: readonly StandardIssue[]): string {
  const found = issues.slice(0, 3).map(({ message, path = [] }) => {
    const keys = path.map((each) => `/${String(typeof each === 'object' ? each.key : each)}`).join('');
    return `at ${keys || 'the top level'}: ${message.replace(/\.$/, '')}`;
  });
  return `A${found.join('; ').slice(1)}${issues.length > 3 ? `; and ${issues.length - 3} more` : ''}.`;
}

/** Requires answers to be JSON that matches a schema, with or without a json code fence, and nothing else. */
export function createOutputSchema(source: SchemaLike): OutputSchema {
  const schema = hasNoJsonSchema(source) ? undefined : toJsonSchema(source);
  const check = createOutputValidator(source, schema ?? {});
  return {
    ...(schema ? { schema } : {}),
    validate(text) {
      const parsed = parseJsonAnswer(text);
      return 'error' in parsed ? parsed.error : check(parsed.value);
    },
    parse(text) {
      const value = parseAnswer(text);
      const result = getSchemaParser(source)?.(value);
      return result && 'value' in result ? result.value : value;
    },
  };
}

/** A Standard Schema that validates, but does not convert to JSON Schema: the model learns it from the errors of its answer. */
const hasNoJsonSchema = (source: SchemaLike): boolean =>
  isStandardSchema(source) && getSchemaParser(source) !== undefined && source['~standard'].jsonSchema === undefined;

/** The value of an answer that matches this schema, with the defaults and transforms of its library; undefined if it does not match. */
export const parseOutput = (output: OutputSchema, text: string): unknown =>
  output.validate(text) !== undefined ? undefined : output.parse ? output.parse(text) : parseAnswer(text);

/** The JSON value of an answer. */
export function parseAnswer(text: string): Json {
  const parsed = parseJsonAnswer(text);
  if ('error' in parsed) throw new FairleadError('answer/not-json', parsed.error, { blame: 'model', retry: true });
  return parsed.value;
}

function createOutputValidator(source: SchemaLike, schema: JsonObject): (value: Json) => string | undefined {
  const parse = getSchemaParser(source);
  if (!parse) return createValidator(schema);
  return (value) => {
    const result = parseSync(parse, value);
    if (result !== 'asynchronous') return result === 'valid' ? undefined : result.error;
    throw new FairleadError(
      'schema/unsupported',
      'The schema of an answer throws or is asynchronous, which is not supported.',
      { blame: 'user', hint: 'Move asynchronous validation into a check of the agent.' },
    );
  };
}

function parseJsonAnswer(text: string): { readonly value: Json } | { readonly error: string } {
  const fence = /^\s*```json[ \t]*\r?\n([^]*?)\r?\n[ \t]*```\s*$/.exec(text);
  try {
    return { value: JSON.parse(fence?.[1] ?? text) as Json };
  } catch (error) {
    const first = text.trimStart().slice(0, 1);
    const hint = /[{[]/.test(text) && !/[{["]/.test(first) ? ' There is text around it.' : '';
    return { error: `The answer is not JSON: ${errorMessage(error).replace(/\.?$/, '.')}${hint}` };
  }
}

const schemaDrafts: readonly (readonly [RegExp, SchemaDraft])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, '2019-09'],
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, '7'],
];

type CompiledSchema = {
  readonly check: (value: Json) => ValidationResult;
  /** Whether the check of a value needs no time limit. */
  readonly isQuick: (value: Json) => boolean;
};

/** Compiles a schema to a validator. This writes marks into the schema, so it must be a copy. */
function compileSchema(schema: JsonObject): CompiledSchema {
  const dialect = schema['$schema'] ?? 'https://json-schema.org/draft/2020-12/schema';
  const draft = schemaDrafts.find(([uri]) => typeof dialect === 'string' && uri.test(dialect))?.[1];
  if (draft === undefined)
    throw brokenSchemaError(
      `The JSON Schema is written in ${JSON.stringify(dialect).slice(0, 200)}, which is not supported.`,
    );
  let schemaError: string | undefined;
  try {
    const text = JSON.stringify(schema);
    const size = measureSchema(schema, text.length);
    if (typeof size === 'string') throw brokenSchemaError(`The JSON Schema is too large: ${size}.`);
    let lookup: Record<string, Schema | boolean> = {};
    const isDone = (isQuickToCompile(size) ? runUntimed : completesInCpuTime)(() => {
      lookup = dereference(schema);
      schemaError = lintSchema(schema, (each) => lookup[(each as Schema).__absolute_ref__ ?? '']);
    });
    if (!isDone) throw brokenSchemaError('The JSON Schema takes too long to read.');
    if (schemaError === undefined) {
      const isBounded = !unboundedKeywords.test(text);
      return {
        check: (value) => validate(value, schema, draft, lookup, false),
        isQuick: (value) => isBounded && isQuickToApply(size, value),
      };
    }
  } catch (cause) {
    if (cause instanceof FairleadError) throw cause;
    throw brokenSchemaError(`The JSON Schema cannot be read: ${errorMessage(cause)}`, cause);
  }
  throw brokenSchemaError(`The JSON Schema is broken: ${schemaError}`);
}

const isStandardSchema = (source: unknown): source is StandardSchema =>
  ((typeof source === 'object' && source !== null) || typeof source === 'function') &&
  isObject((source as Partial<StandardSchema>)['~standard']);

function copySchema(source: unknown): JsonObject {
  if (
    !isObject(source) ||
    (Object.getPrototypeOf(source) !== Object.prototype && Object.getPrototypeOf(source) !== null)
  )
    throw brokenSchemaError(
      `A schema must be a JSON Schema object or a Standard Schema object, not ${describeKind(source)}.`,
    );
  let text: string;
  try {
    text = JSON.stringify(source);
  } catch (cause) {
    throw brokenSchemaError(`The JSON Schema is not plain JSON: ${errorMessage(cause)}`, cause);
  }
  if (text.length > maxSchemaChars)
    throw brokenSchemaError(`The JSON Schema is too large: it has more than ${maxSchemaChars} characters.`);
  return JSON.parse(text) as JsonObject;
}

/** The kind of a value, for error messages. */
export const describeKind = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value) && value.constructor === Object) return 'an object';
  return typeof value === 'object' ? `an instance of ${value.constructor?.name ?? 'a class'}` : `a ${typeof value}`;
};

const brokenSchemaError = (message: string, cause?: unknown): FairleadError =>
  new FairleadError('schema/broken', message, {
    blame: 'user',
    hint: 'Give a JSON Schema (draft 2020-12), or a schema of a library that follows Standard Schema.',
    ...(cause === undefined ? {} : { cause }),
  });
