// What language servers know of the code, and what an edit broke in it.
import { nothing, type Equipment, type Ground } from './ground.ts';

/** What language servers know of the code, and what an edit broke in it. */
export const languageEquipment = async (_ground: Ground): Promise<Equipment> => nothing;
