// Keeps the end of a growing page in view until the user scrolls up, and again once the user is back at the end.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** Whether the end is followed, and a function that goes there. */
export type Follow = { readonly isAtEnd: boolean; readonly jumpToEnd: () => void };

/** Distance in pixels within which the user counts as being at the end. */
const endDistance = 48;

const distanceToEnd = (): number => document.documentElement.scrollHeight - innerHeight - scrollY;

/** Follows the end of the page. It starts at the end if `isLive`, and stays there while the page grows. */
export function useFollow(isLive: boolean): Follow {
  const [isAtEnd, setAtEnd] = useState(true);
  const isFollowing = useRef(false);
  const jumpToEnd = useCallback(() => {
    isFollowing.current = true;
    scrollTo(0, document.documentElement.scrollHeight);
    setAtEnd(true);
  }, []);
  useEffect(() => {
    let before = scrollY;
    function onScroll(): void {
      const near = distanceToEnd() < endDistance;
      // Only the user moves the page up, and a browser moves it in small steps: a step that ends near the end counts too.
      if (scrollY < before - 2 && distanceToEnd() > 2) isFollowing.current = false;
      else if (near && scrollY >= before) isFollowing.current = true;
      before = scrollY;
      setAtEnd(near || isFollowing.current);
    }
    const onResize = (): void => {
      if (isFollowing.current && distanceToEnd() > 0) scrollTo(0, document.documentElement.scrollHeight);
      else setAtEnd(isFollowing.current || distanceToEnd() < endDistance);
      // A page that became shorter was moved by the browser, not by the user.
      before = scrollY;
    };
    const observer = new ResizeObserver(onResize);
    observer.observe(document.body);
    addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      removeEventListener('scroll', onScroll);
    };
  }, []);
  useEffect(() => {
    if (isLive) jumpToEnd();
  }, [isLive, jumpToEnd]);
  return { isAtEnd, jumpToEnd };
}
