import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/"] },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [
      tseslint.configs.recommendedTypeChecked,
      hooks.configs.flat.recommended,
      a11y.flatConfigs.strict,
    ],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      // A promise that nobody waits for is marked with `void`.
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": [
        "error",
        { checksVoidReturn: { attributes: false } },
      ],
      eqeqeq: "error",
      "no-console": "error",
      "max-lines": ["error", 800],
      "max-len": ["error", { code: 100, ignoreUrls: true }],
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      // Strict CSP: neither may appear.
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Texts come from clusters that others write to: let React escape them.",
        },
        {
          selector: "NewExpression[callee.name='EventSource']",
          message: "One stream per tab: use useStream().",
        },
      ],
    },
  },
  {
    // The body of a describe() is a list of tests, not a function that one reads as one.
    files: ["**/*.test.{ts,tsx}", "src/testing/**"],
    rules: { "max-lines-per-function": "off", "@typescript-eslint/require-await": "off" },
  },
  {
    files: ["scripts/**/*.mjs"],
    rules: { "max-len": ["error", { code: 100 }] },
  },
);
