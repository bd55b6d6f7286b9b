// The response schema of the request of a turn, and the parser of its turn number.
import { z } from 'zod';
import { createHttpError } from '../errors.ts';
import { apiSchemas } from '../schemas.ts';

/** The request of a turn as a response. */
export const turnRequestSchema: z.ZodType = z.object({
  turn: z.number(),
  model: z.string(),
  time: z.string(),
  system: z.string(),
  tools: z.array(z.looseObject({ name: z.string() })),
  messages: z.array(apiSchemas.Message),
  toolChoice: z.unknown(),
});

/** Parses the number of a turn; throws 400 if it is not one. */
export function parseTurn(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw createHttpError('server/bad-request', 'The turn must be a number such as 1.', { param: 'turn' });
}
