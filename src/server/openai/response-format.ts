// The form that a client wants its answer in: the run is held to it, and what does not fit is never told as an answer.
import { createOutputSchema, parseAnswer } from '../../agent/index.ts';
import { FairleadError, isObject, type JsonObject } from '../../core/index.ts';
import { createHttpError } from '../http/errors.ts';
import { throwInvalidParam } from './errors.ts';
import { isNullish } from './request-params.ts';

/** A form for an answer. */
export type ResponseFormat = {
  /** The schema that the run is held to. */
  readonly schema: JsonObject;
  /** The answer as JSON and nothing around it; throws where it does not fit. */
  normalize(text: string): string;
};

/** The form that a request asks for; nothing where any text will do. */
export function parseResponseFormat(request: JsonObject): ResponseFormat | undefined {
  const { response_format: chat, text } = request;
  const responses = isObject(text) ? text['format'] : undefined;
  const param = isNullish(responses) ? 'response_format' : 'text.format';
  const given = isNullish(responses) ? chat : responses;
  if (isNullish(given)) return undefined;
  if (!isObject(given)) return throwInvalidParam(param, `\`${param}\` has to be an object.`);
  const { type } = given;
  if (type === 'text') return undefined;
  if (type === 'json_object') return createResponseFormat({ type: 'object' }, param);
  if (type !== 'json_schema')
    return throwInvalidParam(`${param}.type`, `There is no form ${JSON.stringify(type)} here.`);
  const named = param === 'response_format' ? given['json_schema'] : given;
  const schema = isObject(named) ? (named['schema'] ?? { type: 'object' }) : undefined;
  const place = param === 'response_format' ? `${param}.json_schema.schema` : `${param}.schema`;
  if (!isObject(schema)) return throwInvalidParam(place, `\`${place}\` has to be a JSON Schema.`);
  return createResponseFormat(schema, place);
}

/** The form that a schema asks for. */
export function createResponseFormat(schema: JsonObject, param = 'schema'): ResponseFormat {
  const shape = createAnswerValidator(schema, param);
  return {
    schema,
    normalize(text) {
      const fault = shape.validate(text);
      if (fault !== undefined)
        throw createHttpError('server/no-answer', `The answer does not fit the form that was asked for: ${fault}`);
      return isJsonText(text) ? text : JSON.stringify(parseAnswer(text));
    },
  };
}

function createAnswerValidator(schema: JsonObject, param: string): ReturnType<typeof createOutputSchema> {
  try {
    return createOutputSchema(schema);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return throwInvalidParam(param, error.message);
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
