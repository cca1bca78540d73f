// Runs before anything is drawn, so that the chosen theme does not flash. Without a choice the system decides.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
