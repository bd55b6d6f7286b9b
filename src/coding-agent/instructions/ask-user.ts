// Asks the user about changed instruction files with a prompter. The diff is loaded for the first question.
import type { UserPrompter } from '../integrations/context.ts';
import type { AcceptInstructions } from './review.ts';

/** The handler for changed instruction files: the given one, or the prompter; absent if no user can be asked. */
export function resolveAcceptHandler(
  handler: AcceptInstructions | false | undefined,
  prompter: UserPrompter,
): AcceptInstructions | undefined {
  if (handler !== undefined) return handler || undefined;
  if (prompter.isAbsent) return undefined;
  return async (changes) => {
    const { changeQuestion, formatInstructionChanges } = await import('./format-changes.ts');
    return prompter.confirm(changeQuestion, await formatInstructionChanges(changes));
  };
}
