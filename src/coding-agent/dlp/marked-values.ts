// Values that were marked private in this process: by the terminal or by a program. They count in every session of the process.
import { createPrivateValues, type PrivateValues } from '../../guards/dlp/index.ts';
import { noteMarkedValue } from './marked-flag.ts';

/** The values that were marked in this process. */
export const markedValues: PrivateValues = createPrivateValues();

/** Marks a value; returns false if it is too short or too long to be found. */
export function markPrivateValue(name: string, value: string): boolean {
  const isMarked = markedValues.add(name, value);
  if (isMarked) noteMarkedValue((text) => markedValues.find(text).length > 0);
  return isMarked;
}
