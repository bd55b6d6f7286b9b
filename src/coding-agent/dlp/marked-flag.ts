// Whether a value was marked private in this process: the values themselves are loaded with the detectors.
let find: ((text: string) => boolean) | undefined;

/** Notes that a value was marked, and how it is found. */
export const noteMarkedValue = (isIn: (text: string) => boolean): void => {
  find = isIn;
};

/** Whether a value was marked. */
export const hasMarkedValues = (): boolean => find !== undefined;

/** Whether a text has a value that was marked. */
export const hasMarkedValue = (text: string): boolean => find?.(text) === true;
