import { expect, it } from "vitest";
import { shellWords } from "./shell";

it("quotes what a shell would read otherwise", () => {
  expect(shellWords(["horae", "jobs", "--text", "it's $HOME; rm -rf ~"])).toBe(
    `horae jobs --text 'it'\\''s $HOME; rm -rf ~'`,
  );
  expect(shellWords(["a=b", "x/y.z"])).toBe("a=b x/y.z");
});
