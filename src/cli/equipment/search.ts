// A search of the web by the engine that the person has a key for.
import { nothing, type Equipment, type Ground } from './ground.ts';

/** A search of the web by the engine that the person has a key for. */
export const searchEquipment = async (_ground: Ground): Promise<Equipment> => nothing;
