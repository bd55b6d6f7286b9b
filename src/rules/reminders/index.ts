// Exports of src/rules/reminders for other modules.
export { builtInReminders } from './built-in.ts';
export { reminderSystemPrompt, reminderIntroKey } from './system-prompt-section.ts';
