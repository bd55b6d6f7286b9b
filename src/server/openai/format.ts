// The form that a client wants its answer in: the run is held to it, and what does not fit is never told as an answer.
import { createOutputSchema, parseAnswer } from '../../agent/index.ts';
import { FairleadError, isObject, type JsonObject } from '../../core/index.ts';
import { refused } from '../faults.ts';
import { wrong } from './errors.ts';
import { isAbsent } from './fields.ts';

/** A form for an answer. */
export type Format = {
  /** The schema that the run is held to. */
  readonly schema: JsonObject;
  /** The answer as JSON and nothing around it; throws where it does not fit. */
  fitted(text: string): string;
};

/** The form that a request asks for; nothing where any text will do. */
export function formatIn(request: JsonObject): Format | undefined {
  const { response_format: chat, text } = request;
  const responses = isObject(text) ? text['format'] : undefined;
  const param = isAbsent(responses) ? 'response_format' : 'text.format';
  const given = isAbsent(responses) ? chat : responses;
  if (isAbsent(given)) return undefined;
  if (!isObject(given)) return wrong(param, `\`${param}\` has to be an object.`);
  const { type } = given;
  if (type === 'text') return undefined;
  if (type === 'json_object') return formatOf({ type: 'object' }, param);
  if (type !== 'json_schema') return wrong(`${param}.type`, `There is no form ${JSON.stringify(type)} here.`);
  const named = param === 'response_format' ? given['json_schema'] : given;
  const schema = isObject(named) ? (named['schema'] ?? { type: 'object' }) : undefined;
  const place = param === 'response_format' ? `${param}.json_schema.schema` : `${param}.schema`;
  if (!isObject(schema)) return wrong(place, `\`${place}\` has to be a JSON Schema.`);
  return formatOf(schema, place);
}

/** The form that a schema asks for. */
export function formatOf(schema: JsonObject, param = 'schema'): Format {
  const shape = shapeOf(schema, param);
  return {
    schema,
    fitted(text) {
      const fault = shape.validate(text);
      if (fault !== undefined)
        throw refused('server/no-answer', `The answer does not fit the form that was asked for: ${fault}`);
      return isJsonText(text) ? text : JSON.stringify(parseAnswer(text));
    },
  };
}

function shapeOf(schema: JsonObject, param: string): ReturnType<typeof createOutputSchema> {
  try {
    return createOutputSchema(schema);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return wrong(param, error.message);
  }
}

/** Models like to put a fence around JSON, which a client that reads it would stumble over. */
function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
