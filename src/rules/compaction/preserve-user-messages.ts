// Verifies the result of a compaction: the user's messages must not be lost, whatever compactor produced it.
import { toArray, type Compactor } from '../../core/index.ts';

/** Wraps a compactor: a result that loses what the user wrote is rejected. */
export const preserveUserMessages = (compactor: Compactor): Compactor => ({
  ...(compactor.threshold === undefined ? {} : { threshold: compactor.threshold }),
  async run(state, context) {
    const { messages, ...result } = await compactor.run(state, context);
    const lostContent =
      messages && (await import('./lost-content.ts')).findLostContent(toArray(state.messages), messages);
    if (lostContent !== undefined) return { ...result, detail: lostContent };
    return messages ? { ...result, messages } : result;
  },
});
