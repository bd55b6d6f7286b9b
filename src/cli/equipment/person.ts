// A way for the model to ask the person, where there is one.
import { nothing, type Equipment, type Ground } from './ground.ts';

/** The tool that asks the person. */
export const personEquipment = async (_ground: Ground): Promise<Equipment> => nothing;
