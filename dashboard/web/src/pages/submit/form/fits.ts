// Which proposals stay while one types.

/** What is typed narrows the list; what was chosen, and stands there, leaves it whole. */
export function fits(
  typed: string,
  value: string,
  options: readonly { value: string }[],
): boolean {
  const chosen = options.some((option) => option.value === typed);
  return chosen || hasInOrder(value.toLowerCase(), typed.toLowerCase());
}

/** Who forgets a letter finds it too: "lent" is in "lenet". */
function hasInOrder(value: string, letters: string): boolean {
  let at = -1;
  return [...letters].every((letter) => (at = value.indexOf(letter, at + 1)) >= 0);
}
