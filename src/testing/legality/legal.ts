// Whether the real service would take a request, asked before it is sent anywhere.
import type { Dialect } from '../replies/reply.ts';
import { anthropicLegal } from './anthropic.ts';
import { chatLegal } from './chat.ts';
import { object, type Row } from './demand.ts';
import { googleLegal } from './google.ts';
import { ollamaLegal } from './ollama.ts';
import { responsesLegal } from './responses.ts';

const checks: Readonly<Record<Dialect, (body: Row, model?: string) => void>> = {
  chat: chatLegal,
  responses: responsesLegal,
  anthropic: anthropicLegal,
  google: googleLegal,
  ollama: ollamaLegal,
};

/** Throws a FairleadError that says where and why the real service would refuse this request body. Google names its model beside the body. */
export function assertLegal(dialect: Dialect, body: unknown, model?: string): void {
  checks[dialect](object(body, 'The body'), model);
}
