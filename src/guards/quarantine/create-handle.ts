// The handle of a quarantined result.
import type { RunState } from '../../core/index.ts';

/** The handle of the result of a call: its turn and its position in the response, so that it is the same in every fold. */
export function createHandle({ turn, calls }: Pick<RunState, 'turn' | 'calls'>, id: string): string {
  const [own = id, ...nested] = id.split('.');
  const index = calls.findIndex((call) => call.id === own || call.id === id);
  return [`q${turn}`, index + 1, ...nested].join('-');
}
