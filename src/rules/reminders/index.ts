// Reminders: short notes that rules add to a conversation when a condition is true.
export { builtInReminders } from './built-in.ts';
export { reminderSystemPrompt, reminderIntroKey, shortReminderSystemPrompt } from './system-prompt-section.ts';
