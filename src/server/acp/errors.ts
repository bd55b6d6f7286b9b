// Maps errors to ACP errors: a sentence for the user and a code for the client.
import { RequestError } from '@agentclientprotocol/sdk';
import { FairleadError, fromFailure, errorMessage, type RunState, formatError } from '../../core/index.ts';

/** Converts an error to an ACP error. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (!(error instanceof FairleadError)) return new RequestError(-32603, errorMessage(error));
  const code = error.code === 'session/unknown' ? -32002 : error.blame === 'user' ? -32602 : -32603;
  return new RequestError(code, formatError(error), { code: error.code });
}

/** Wraps a handler so that its errors become ACP errors. */
export const withRequestErrors =
  <Context, Response>(work: (context: Context) => Response | Promise<Response>) =>
  async (context: Context): Promise<Response> => {
    try {
      return await work(context);
    } catch (error) {
      throw toRequestError(error);
    }
  };

/** Stop reasons that both protocol versions define. */
export type AcpStopReason = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'cancelled';

/** Returns the ACP stop reason of a run; throws if there is none. */
export function toAcpStopReason({ ended }: RunState): AcpStopReason | RequestError {
  switch (ended?.reason) {
    case undefined:
    case 'answered':
    case 'task-complete':
    case 'abstained':
      return 'end_turn';
    case 'truncated':
      return 'max_tokens';
    case 'max-turns':
    case 'token-budget':
    case 'money-budget':
    case 'call-budget':
    case 'time':
      return 'max_turn_requests';
    case 'cancelled':
      return 'cancelled';
    case 'provider-error':
    case 'error-threshold':
    case 'stuck':
    case 'rule':
    case 'kill-switch': {
      const { reason, detail, error } = ended;
      const why = error ? formatError(fromFailure(error)) : (detail ?? '');
      return new RequestError(-32603, `The run stopped: ${reason}. ${why}`.trim(), { reason });
    }
  }
}
