// A way for the model to ask the person, where there is one.
import { askUser } from '../../tools/index.ts';
import { nothing, type Equipment, type Ground } from './ground.ts';

/** The tool that asks the person; none where nobody can be asked. */
export async function personEquipment({ person }: Ground): Promise<Equipment> {
  if (!person.words) return nothing;
  const tool = askUser(async ({ question, choices }, signal) => person.words?.(question, choices, signal));
  return { ...nothing, tools: [{ ...tool, deferred: true }] };
}
