// Runs before the first paint, so that a chosen theme does not flash; a file of its own because the
// content security policy allows no script inside the page.
(() => {
  try {
    const theme = JSON.parse(localStorage.getItem("horae.theme") || "null");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be forbidden: the system's theme is right then.
  }
})();
