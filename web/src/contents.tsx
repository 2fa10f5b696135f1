import { useEffect, useState } from "preact/hooks";

/** The table of contents; marks the current section. */
export function Contents({ entries }: { entries: (readonly [id: string, name: string])[] }) {
  const [here, setHere] = useState(entries[0][0]);
  const ids = entries.map(([id]) => id).join(" ");
  useEffect(() => {
    const sections = ids.split(" ").flatMap((id) => document.getElementById(id) ?? []);
    // A section is current while it crosses a line in the upper third of the window.
    const watch = new IntersectionObserver(
      (changes) => changes.forEach((c) => c.isIntersecting && setHere(c.target.id)),
      { rootMargin: "-30% 0px -70% 0px" },
    );
    sections.forEach((section) => watch.observe(section));
    return () => watch.disconnect();
  }, [ids]);
  return (
    <nav aria-label="Contents">
      <ul>
        {entries.map(([id, name]) => (
          <li>
            <a href={`#${id}`} aria-current={id === here ? "true" : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
