export const isLeapYear = (year) => year % 4 === 0;
