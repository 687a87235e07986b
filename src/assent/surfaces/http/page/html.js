// The one door to Preact: templates that are written as markup and need no build step.

import { Fragment, h, render } from "/page/vendor/preact.js";
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "/page/vendor/hooks.js";
import htm from "/page/vendor/htm.js";

export const html = htm.bind(h);
export {
  Fragment,
  h,
  render,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
};
