// The names of the events by which one part of the page opens another.

/** Opens the command palette. */
export const openPaletteEvent = 'fairlead-palette';

/** Opens the list of shortcuts. */
export const openShortcutsEvent = 'fairlead-help';

/** Opens the dialog that stops all runs. */
export const stopRunsEvent = 'fairlead-stop-runs';
