/** "1 job", "2 jobs"; Chinese has no such forms and does without. */
export function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
